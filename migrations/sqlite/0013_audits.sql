CREATE TABLE `audits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`key` text NOT NULL,
	`at` text NOT NULL,
	`base_id` text NOT NULL,
	`kind` text NOT NULL,
	`actor_id` text,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audits_base` ON `audits` (`base_id`,`id`);