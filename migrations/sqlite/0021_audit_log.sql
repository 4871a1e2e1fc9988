CREATE TABLE `__new_audits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`key` text NOT NULL,
	`at` text NOT NULL,
	`base_id` text,
	`kind` text NOT NULL,
	`actor_id` text,
	`user_id` text,
	`address` text,
	`user_agent` text,
	`detail` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `__new_audits`(`id`, `key`, `at`, `base_id`, `kind`, `actor_id`, `detail`) SELECT `id`, `key`, `at`, `base_id`, `kind`, `actor_id`, `detail` FROM `audits`;--> statement-breakpoint
DROP TABLE `audits`;--> statement-breakpoint
ALTER TABLE `__new_audits` RENAME TO `audits`;--> statement-breakpoint
CREATE INDEX `audits_base` ON `audits` (`base_id`,`id`);--> statement-breakpoint
CREATE INDEX `audits_at` ON `audits` (`at`);