"""What people do today beside a design, and how a mechanism behaves beyond its expected loss."""
