"""One program for each library: `main(world)` fails where something of the library does not work."""
