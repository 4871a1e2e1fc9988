CREATE TABLE `table_indexes` (
	`id` text PRIMARY KEY NOT NULL,
	`base_id` text NOT NULL,
	`table_id` text NOT NULL,
	`terms` text NOT NULL,
	`columns` text NOT NULL,
	`is_automatic` integer NOT NULL,
	`state` text NOT NULL,
	`error` text,
	`created_at` text NOT NULL,
	`used_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `table_indexes_table` ON `table_indexes` (`table_id`);--> statement-breakpoint
CREATE TABLE `table_reads` (
	`table_id` text NOT NULL,
	`key` text NOT NULL,
	`base_id` text NOT NULL,
	`slow_reads` integer NOT NULL,
	`slow_ms` real NOT NULL,
	`last_at` text NOT NULL,
	PRIMARY KEY(`table_id`, `key`)
);
