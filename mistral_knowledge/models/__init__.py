"""What the API's JSON becomes: attrs classes, one module a resource.

Replies are read with tolerance: only ids are required, missing and null fields are None, fields
that this version does not know stay readable in `.raw`, and what the server enumerates today
(statuses, purposes, roles, finish reasons) stays plain text, so that tomorrow's values do no harm.
"""
