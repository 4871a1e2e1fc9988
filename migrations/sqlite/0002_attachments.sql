CREATE TABLE `attachment_files` (
	`path` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`title` text NOT NULL,
	`mimetype` text NOT NULL,
	`size` integer NOT NULL,
	`width` integer,
	`height` integer,
	`is_used` integer NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `attachment_files_unused` ON `attachment_files` (`is_used`,`created_at`);--> statement-breakpoint
CREATE TABLE `attachment_uses` (
	`path` text NOT NULL,
	`base_id` text NOT NULL,
	PRIMARY KEY(`path`, `base_id`)
);
