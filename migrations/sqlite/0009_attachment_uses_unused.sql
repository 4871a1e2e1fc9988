ALTER TABLE `attachment_uses` ADD `unused_since` text;--> statement-breakpoint
CREATE INDEX `attachment_uses_base` ON `attachment_uses` (`base_id`);