CREATE TABLE `shares` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`base_id` text NOT NULL,
	`target_id` text NOT NULL,
	`role` text NOT NULL,
	`password_hash` text,
	`expires_at` text,
	`settings` text NOT NULL,
	`created_by` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`last_visit_at` text,
	`answers` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_target` ON `shares` (`kind`,`target_id`);--> statement-breakpoint
CREATE INDEX `shares_base` ON `shares` (`base_id`);--> statement-breakpoint
ALTER TABLE `view_fields` ADD `form` text;--> statement-breakpoint
ALTER TABLE `views` ADD `groups` text;--> statement-breakpoint
ALTER TABLE `views` ADD `coloring` text;--> statement-breakpoint
ALTER TABLE `views` ADD `options` text;--> statement-breakpoint
ALTER TABLE `views` ADD `owned_by` text;