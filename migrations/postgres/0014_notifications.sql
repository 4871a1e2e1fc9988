CREATE TABLE "notification_settings" (
	"user_id" text NOT NULL,
	"base_id" text NOT NULL,
	"name" text NOT NULL,
	"value" text NOT NULL,
	CONSTRAINT "notification_settings_user_id_base_id_name_pk" PRIMARY KEY("user_id","base_id","name")
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"base_id" text,
	"table_id" text,
	"view_id" text,
	"field_id" text,
	"record_id" text,
	"actor_id" text,
	"ref" text,
	"count" integer NOT NULL,
	"detail" jsonb NOT NULL,
	"is_read" boolean NOT NULL,
	"mail_due_at" bigint,
	"created_at" text NOT NULL,
	"at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "watches" (
	"user_id" text NOT NULL,
	"base_id" text NOT NULL,
	"table_id" text NOT NULL,
	"kind" text NOT NULL,
	"target_id" text NOT NULL,
	"created_at" text NOT NULL,
	CONSTRAINT "watches_user_id_table_id_kind_target_id_pk" PRIMARY KEY("user_id","table_id","kind","target_id")
);
--> statement-breakpoint
CREATE INDEX "notification_settings_base" ON "notification_settings" USING btree ("base_id");--> statement-breakpoint
CREATE UNIQUE INDEX "notifications_key" ON "notifications" USING btree ("user_id","key");--> statement-breakpoint
CREATE INDEX "notifications_user" ON "notifications" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "notifications_unread" ON "notifications" USING btree ("user_id","is_read","at");--> statement-breakpoint
CREATE INDEX "notifications_ref" ON "notifications" USING btree ("ref");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("mail_due_at");--> statement-breakpoint
CREATE INDEX "notifications_base" ON "notifications" USING btree ("base_id");--> statement-breakpoint
CREATE INDEX "notifications_at" ON "notifications" USING btree ("at");--> statement-breakpoint
CREATE INDEX "watches_target" ON "watches" USING btree ("table_id","kind","target_id");--> statement-breakpoint
CREATE INDEX "watches_base" ON "watches" USING btree ("base_id");