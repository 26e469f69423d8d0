"""What people read: tables, figures, paper numbers and the demo, all made from the statistics and the wire logs."""
