"""The interpreter of the table: a cloud with state, time, faults and refusals."""
