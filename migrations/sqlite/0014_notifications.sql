CREATE TABLE `notification_settings` (
	`user_id` text NOT NULL,
	`base_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`user_id`, `base_id`, `name`)
);
--> statement-breakpoint
CREATE INDEX `notification_settings_base` ON `notification_settings` (`base_id`);--> statement-breakpoint
CREATE TABLE `notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`base_id` text,
	`table_id` text,
	`view_id` text,
	`field_id` text,
	`record_id` text,
	`actor_id` text,
	`ref` text,
	`count` integer NOT NULL,
	`detail` text NOT NULL,
	`is_read` integer NOT NULL,
	`mail_due_at` integer,
	`created_at` text NOT NULL,
	`at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_key` ON `notifications` (`user_id`,`key`);--> statement-breakpoint
CREATE INDEX `notifications_user` ON `notifications` (`user_id`,`at`);--> statement-breakpoint
CREATE INDEX `notifications_unread` ON `notifications` (`user_id`,`is_read`,`at`);--> statement-breakpoint
CREATE INDEX `notifications_ref` ON `notifications` (`ref`);--> statement-breakpoint
CREATE INDEX `notifications_due` ON `notifications` (`mail_due_at`);--> statement-breakpoint
CREATE INDEX `notifications_base` ON `notifications` (`base_id`);--> statement-breakpoint
CREATE INDEX `notifications_at` ON `notifications` (`at`);--> statement-breakpoint
CREATE TABLE `watches` (
	`user_id` text NOT NULL,
	`base_id` text NOT NULL,
	`table_id` text NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`user_id`, `table_id`, `kind`, `target_id`)
);
--> statement-breakpoint
CREATE INDEX `watches_target` ON `watches` (`table_id`,`kind`,`target_id`);--> statement-breakpoint
CREATE INDEX `watches_base` ON `watches` (`base_id`);