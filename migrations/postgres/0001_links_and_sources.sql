ALTER TABLE "fields" ADD COLUMN "database_type" text;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "read_only_reason" text;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "result" jsonb;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "error" text;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "config" text;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "is_schema_readonly" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "is_data_readonly" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "is_enabled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "kind" text DEFAULT 'table' NOT NULL;--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "is_junction" boolean DEFAULT false NOT NULL;