"""Programs that use libraries as people do, in releases that have a bug of concurrency."""
