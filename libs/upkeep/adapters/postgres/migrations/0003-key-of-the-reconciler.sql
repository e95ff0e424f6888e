-- Where a publication names all tables, PostgreSQL refuses to update one without a key.
ALTER TABLE sluice.reconciler ADD COLUMN single boolean PRIMARY KEY DEFAULT true CHECK (single);
