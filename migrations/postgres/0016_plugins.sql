CREATE TABLE "file_buckets" (
	"id" text PRIMARY KEY NOT NULL,
	"settings" text NOT NULL,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plugins" (
	"id" text PRIMARY KEY NOT NULL,
	"is_active" boolean NOT NULL,
	"input" text,
	"updated_by" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "attachment_files" ADD COLUMN "store_id" text;