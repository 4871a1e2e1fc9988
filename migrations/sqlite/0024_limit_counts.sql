CREATE TABLE `limit_counts` (
	`limit_name` text NOT NULL,
	`key` text NOT NULL,
	`at` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`limit_name`, `key`, `at`)
);
--> statement-breakpoint
CREATE INDEX `limit_counts_at` ON `limit_counts` (`at`);