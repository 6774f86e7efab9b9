"""One module for each library. It is imported where that library is, so nothing else imports it."""
