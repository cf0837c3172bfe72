"""What was measured, as a page that a person can read: data in, one self-contained HTML text out.

A page loads nothing: no script, no font, no picture from elsewhere, so it opens from a ticket, an archive or a laptop
without a network, and shows tomorrow what it showed today.
"""
