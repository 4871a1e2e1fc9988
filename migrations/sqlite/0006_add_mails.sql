CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`topic` text NOT NULL,
	`event` text NOT NULL,
	`recipient` text NOT NULL,
	`content` text,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`expires_at` integer,
	`error` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`status`,`due_at`);--> statement-breakpoint
CREATE INDEX `mails_topic` ON `mails` (`topic`,`created_at`);