-- Lists of the messages of a type, or of all types that begin with the same words: newest first in each of them, so that
-- a list reads only what it shows. Messages without a type, or with fewer words, are in none of them. The last column is
-- an expression, since a planner could else prefer the primary key for the order.
CREATE INDEX messages_by_type ON sluice.messages (account_id, status, type, substr(id, 5)) WHERE type IS NOT NULL;
CREATE INDEX messages_by_1_word ON sluice.messages
  (account_id, status, substring(type FROM '^(?:[^.]+\.){1}'), substr(id, 5))
  WHERE substring(type FROM '^(?:[^.]+\.){1}') IS NOT NULL;
CREATE INDEX messages_by_2_words ON sluice.messages
  (account_id, status, substring(type FROM '^(?:[^.]+\.){2}'), substr(id, 5))
  WHERE substring(type FROM '^(?:[^.]+\.){2}') IS NOT NULL;
CREATE INDEX messages_by_3_words ON sluice.messages
  (account_id, status, substring(type FROM '^(?:[^.]+\.){3}'), substr(id, 5))
  WHERE substring(type FROM '^(?:[^.]+\.){3}') IS NOT NULL;
CREATE INDEX messages_by_4_words ON sluice.messages
  (account_id, status, substring(type FROM '^(?:[^.]+\.){4}'), substr(id, 5))
  WHERE substring(type FROM '^(?:[^.]+\.){4}') IS NOT NULL;
