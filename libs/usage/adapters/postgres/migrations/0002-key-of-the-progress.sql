-- Where a publication names all tables, PostgreSQL refuses to update one without a key.
ALTER TABLE sluice.usage_progress ADD COLUMN single boolean PRIMARY KEY DEFAULT true CHECK (single);
