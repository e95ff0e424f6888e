-- How a key begins and ends, so that people recognise it: slc_7k2m…x9qa. Null for keys that were created before.
ALTER TABLE sluice.api_keys ADD COLUMN hint text;
