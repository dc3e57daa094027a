"""Programs of users that only type checkers read (make lint); none of them runs."""
