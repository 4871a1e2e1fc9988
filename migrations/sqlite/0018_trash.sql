CREATE TABLE `detached_files` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`base_id` text NOT NULL,
	`table_id` text NOT NULL,
	`field_id` text NOT NULL,
	`record_id` text NOT NULL,
	`path` text NOT NULL,
	`item` text NOT NULL,
	`detached_at` text NOT NULL,
	`detached_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `detached_files_cell` ON `detached_files` (`table_id`,`record_id`,`field_id`,`path`);--> statement-breakpoint
CREATE INDEX `detached_files_base` ON `detached_files` (`base_id`,`detached_at`,`id`);--> statement-breakpoint
ALTER TABLE `bases` ADD `deleted_by` text;--> statement-breakpoint
ALTER TABLE `bases` ADD `trash_days` integer;--> statement-breakpoint
ALTER TABLE `fields` ADD `deleted_by` text;--> statement-breakpoint
ALTER TABLE `tables` ADD `deleted_by` text;--> statement-breakpoint
-- Existing bases keep deleted items as long as before: with their change log.
UPDATE "bases" SET "trash_days" = 0;
