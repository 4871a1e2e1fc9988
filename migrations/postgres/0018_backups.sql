CREATE TABLE "backup_settings" (
	"id" text PRIMARY KEY NOT NULL,
	"content" text NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" text NOT NULL,
	"last_slot" text
);
