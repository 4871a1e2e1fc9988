ALTER TABLE `fields` ADD `database_type` text;--> statement-breakpoint
ALTER TABLE `fields` ADD `read_only_reason` text;--> statement-breakpoint
ALTER TABLE `fields` ADD `result` text;--> statement-breakpoint
ALTER TABLE `fields` ADD `error` text;--> statement-breakpoint
ALTER TABLE `sources` ADD `config` text;--> statement-breakpoint
ALTER TABLE `sources` ADD `is_schema_readonly` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `sources` ADD `is_data_readonly` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `sources` ADD `is_enabled` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `tables` ADD `kind` text DEFAULT 'table' NOT NULL;--> statement-breakpoint
ALTER TABLE `tables` ADD `is_junction` integer DEFAULT false NOT NULL;