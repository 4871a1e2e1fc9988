ALTER TABLE `bases` ADD `history_days` integer;--> statement-breakpoint
ALTER TABLE `bases` ADD `history_since` text;