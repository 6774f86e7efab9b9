"""One run of one machine: driver, recorder, snapshots, fork server, and the failure bucket."""
