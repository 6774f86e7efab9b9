"""The projects under examples/ do what their README says."""
