CREATE TABLE `api_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` text NOT NULL,
	`description` text,
	`token_hash` text NOT NULL,
	`hint` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_hash` ON `api_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `api_tokens_user` ON `api_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `base_preferences` (
	`base_id` text NOT NULL,
	`user_id` text NOT NULL,
	`starred` integer,
	`hidden` integer,
	`order` real,
	PRIMARY KEY(`user_id`, `base_id`),
	FOREIGN KEY (`base_id`) REFERENCES `bases`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `bases` (
	`id` text PRIMARY KEY NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`meta` text NOT NULL,
	`order` real NOT NULL,
	`created_by` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text
);
--> statement-breakpoint
CREATE TABLE `fields` (
	`id` text PRIMARY KEY NOT NULL,
	`table_id` text NOT NULL,
	`title` text NOT NULL,
	`column_name` text NOT NULL,
	`type` text NOT NULL,
	`options` text NOT NULL,
	`description` text,
	`required` integer NOT NULL,
	`unique` integer NOT NULL,
	`default_value` text,
	`wire_meta` text,
	`order` real NOT NULL,
	`is_display` integer NOT NULL,
	`is_primary_key` integer NOT NULL,
	`is_system` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text,
	FOREIGN KEY (`table_id`) REFERENCES `tables`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `fields_table` ON `fields` (`table_id`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`base_id` text,
	`user_id` text NOT NULL,
	`input` text NOT NULL,
	`progress` text NOT NULL,
	`result` text,
	`error` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_base` ON `jobs` (`base_id`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`scope` text NOT NULL,
	`scope_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`scope`, `scope_id`, `user_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `memberships_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE TABLE `password_resets` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `password_resets_user` ON `password_resets` (`user_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token_version` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sources` (
	`id` text PRIMARY KEY NOT NULL,
	`base_id` text NOT NULL,
	`alias` text,
	`client` text NOT NULL,
	`is_own` integer NOT NULL,
	`order` real NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`base_id`) REFERENCES `bases`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sources_base` ON `sources` (`base_id`);--> statement-breakpoint
CREATE TABLE `tables` (
	`id` text PRIMARY KEY NOT NULL,
	`base_id` text NOT NULL,
	`source_id` text NOT NULL,
	`title` text NOT NULL,
	`table_name` text NOT NULL,
	`description` text,
	`meta` text NOT NULL,
	`order` real NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text
);
--> statement-breakpoint
CREATE INDEX `tables_base` ON `tables` (`base_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `tables_name` ON `tables` (`source_id`,`table_name`);--> statement-breakpoint
CREATE TABLE `uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`file_name` text NOT NULL,
	`size` integer NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`password_hash` text,
	`display_name` text,
	`meta` text,
	`roles` text NOT NULL,
	`token_version` text NOT NULL,
	`invite_token` text,
	`invited_by` text,
	`founder` integer,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_founder` ON `users` (`founder`);--> statement-breakpoint
CREATE TABLE `view_fields` (
	`id` text PRIMARY KEY NOT NULL,
	`view_id` text NOT NULL,
	`field_id` text NOT NULL,
	`show` integer NOT NULL,
	`order` real NOT NULL,
	`width` integer NOT NULL,
	`summary` text,
	FOREIGN KEY (`view_id`) REFERENCES `views`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `view_fields_field` ON `view_fields` (`view_id`,`field_id`);--> statement-breakpoint
CREATE TABLE `views` (
	`id` text PRIMARY KEY NOT NULL,
	`table_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`kind` text NOT NULL,
	`is_default` integer NOT NULL,
	`order` real NOT NULL,
	`lock` text NOT NULL,
	`meta` text NOT NULL,
	`show_system_fields` integer,
	`row_height` text NOT NULL,
	`frozen` integer NOT NULL,
	`filter` text,
	`sorts` text NOT NULL,
	`created_by` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `views_table` ON `views` (`table_id`);