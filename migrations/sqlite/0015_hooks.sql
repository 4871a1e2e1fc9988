CREATE TABLE `hook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`hook_id` text NOT NULL,
	`base_id` text NOT NULL,
	`entry_id` integer NOT NULL,
	`part` integer NOT NULL,
	`operation` text NOT NULL,
	`is_test` integer NOT NULL,
	`rows` integer NOT NULL,
	`record_ids` text,
	`event` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`request` text,
	`response` text,
	`duration_ms` integer,
	`error_code` text,
	`error_message` text,
	`triggered_by` text
);
--> statement-breakpoint
CREATE INDEX `hook_deliveries_order` ON `hook_deliveries` (`hook_id`,`status`,`entry_id`,`part`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_log` ON `hook_deliveries` (`hook_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_due` ON `hook_deliveries` (`status`,`due_at`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_base` ON `hook_deliveries` (`base_id`);--> statement-breakpoint
CREATE TABLE `hooks` (
	`id` text PRIMARY KEY NOT NULL,
	`base_id` text NOT NULL,
	`table_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`event` text NOT NULL,
	`operations` text NOT NULL,
	`is_active` integer NOT NULL,
	`deliver_per` text NOT NULL,
	`is_conditional` integer NOT NULL,
	`filter` text,
	`trigger_field_ids` text NOT NULL,
	`channel` text NOT NULL,
	`payload` text NOT NULL,
	`secret` text NOT NULL,
	`order` real NOT NULL,
	`pause` text,
	`failing_since` integer,
	`taken_to` integer NOT NULL,
	`behind_entry` integer,
	`behind_cursor` text,
	`skipped_to` integer NOT NULL,
	`created_by` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `hooks_table` ON `hooks` (`table_id`);--> statement-breakpoint
CREATE INDEX `hooks_base` ON `hooks` (`base_id`);