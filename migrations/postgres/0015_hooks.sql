CREATE TABLE "hook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"hook_id" text NOT NULL,
	"base_id" text NOT NULL,
	"entry_id" bigint NOT NULL,
	"part" integer NOT NULL,
	"operation" text NOT NULL,
	"is_test" boolean NOT NULL,
	"rows" integer NOT NULL,
	"record_ids" jsonb,
	"event" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"due_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"ended_at" bigint,
	"request" jsonb,
	"response" jsonb,
	"duration_ms" integer,
	"error_code" text,
	"error_message" text,
	"triggered_by" text
);
--> statement-breakpoint
CREATE TABLE "hooks" (
	"id" text PRIMARY KEY NOT NULL,
	"base_id" text NOT NULL,
	"table_id" text NOT NULL,
	"title" text NOT NULL,
	"description" text,
	"event" text NOT NULL,
	"operations" jsonb NOT NULL,
	"is_active" boolean NOT NULL,
	"deliver_per" text NOT NULL,
	"is_conditional" boolean NOT NULL,
	"filter" jsonb,
	"trigger_field_ids" jsonb NOT NULL,
	"channel" text NOT NULL,
	"payload" text NOT NULL,
	"secret" text NOT NULL,
	"order" double precision NOT NULL,
	"pause" jsonb,
	"failing_since" bigint,
	"taken_to" bigint NOT NULL,
	"behind_entry" bigint,
	"behind_cursor" text,
	"skipped_to" bigint NOT NULL,
	"created_by" text,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "hook_deliveries_order" ON "hook_deliveries" USING btree ("hook_id","status","entry_id","part");--> statement-breakpoint
CREATE INDEX "hook_deliveries_log" ON "hook_deliveries" USING btree ("hook_id","created_at");--> statement-breakpoint
CREATE INDEX "hook_deliveries_due" ON "hook_deliveries" USING btree ("status","due_at");--> statement-breakpoint
CREATE INDEX "hook_deliveries_base" ON "hook_deliveries" USING btree ("base_id");--> statement-breakpoint
CREATE INDEX "hooks_table" ON "hooks" USING btree ("table_id");--> statement-breakpoint
CREATE INDEX "hooks_base" ON "hooks" USING btree ("base_id");