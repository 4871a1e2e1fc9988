CREATE TABLE "shares" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"base_id" text NOT NULL,
	"target_id" text NOT NULL,
	"role" text NOT NULL,
	"password_hash" text,
	"expires_at" text,
	"settings" jsonb NOT NULL,
	"created_by" text,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL,
	"last_visit_at" text,
	"answers" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "view_fields" ADD COLUMN "form" jsonb;--> statement-breakpoint
ALTER TABLE "views" ADD COLUMN "groups" jsonb;--> statement-breakpoint
ALTER TABLE "views" ADD COLUMN "coloring" jsonb;--> statement-breakpoint
ALTER TABLE "views" ADD COLUMN "options" jsonb;--> statement-breakpoint
ALTER TABLE "views" ADD COLUMN "owned_by" text;--> statement-breakpoint
CREATE UNIQUE INDEX "shares_target" ON "shares" USING btree ("kind","target_id");--> statement-breakpoint
CREATE INDEX "shares_base" ON "shares" USING btree ("base_id");