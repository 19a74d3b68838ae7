"""Drawings as inline SVG, for reports. What these modules return is markup: every text in it is escaped there."""
