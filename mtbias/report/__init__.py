"""What people look at: tables, pages and plots of runs. No number is computed here."""
