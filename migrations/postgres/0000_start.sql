CREATE TABLE "api_tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" text NOT NULL,
	"description" text,
	"token_hash" text NOT NULL,
	"hint" text NOT NULL,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "base_preferences" (
	"base_id" text NOT NULL,
	"user_id" text NOT NULL,
	"starred" boolean,
	"hidden" boolean,
	"order" double precision,
	CONSTRAINT "base_preferences_user_id_base_id_pk" PRIMARY KEY("user_id","base_id")
);
--> statement-breakpoint
CREATE TABLE "bases" (
	"id" text PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"description" text,
	"meta" jsonb NOT NULL,
	"order" double precision NOT NULL,
	"created_by" text NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL,
	"deleted_at" text
);
--> statement-breakpoint
CREATE TABLE "fields" (
	"id" text PRIMARY KEY NOT NULL,
	"table_id" text NOT NULL,
	"title" text NOT NULL,
	"column_name" text NOT NULL,
	"type" text NOT NULL,
	"options" jsonb NOT NULL,
	"description" text,
	"required" boolean NOT NULL,
	"unique" boolean NOT NULL,
	"default_value" jsonb,
	"wire_meta" jsonb,
	"order" double precision NOT NULL,
	"is_display" boolean NOT NULL,
	"is_primary_key" boolean NOT NULL,
	"is_system" boolean NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL,
	"deleted_at" text
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"base_id" text,
	"user_id" text NOT NULL,
	"input" jsonb NOT NULL,
	"progress" jsonb NOT NULL,
	"result" jsonb,
	"error" text,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"scope" text NOT NULL,
	"scope_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" text NOT NULL,
	CONSTRAINT "memberships_scope_scope_id_user_id_pk" PRIMARY KEY("scope","scope_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "password_resets" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token_version" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sources" (
	"id" text PRIMARY KEY NOT NULL,
	"base_id" text NOT NULL,
	"alias" text,
	"client" text NOT NULL,
	"is_own" boolean NOT NULL,
	"order" double precision NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tables" (
	"id" text PRIMARY KEY NOT NULL,
	"base_id" text NOT NULL,
	"source_id" text NOT NULL,
	"title" text NOT NULL,
	"table_name" text NOT NULL,
	"description" text,
	"meta" jsonb NOT NULL,
	"order" double precision NOT NULL,
	"version" integer NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL,
	"deleted_at" text
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"file_name" text NOT NULL,
	"size" bigint NOT NULL,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"password_hash" text,
	"display_name" text,
	"meta" jsonb,
	"roles" text NOT NULL,
	"token_version" text NOT NULL,
	"invite_token" text,
	"invited_by" text,
	"founder" integer,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL,
	"deleted_at" text
);
--> statement-breakpoint
CREATE TABLE "view_fields" (
	"id" text PRIMARY KEY NOT NULL,
	"view_id" text NOT NULL,
	"field_id" text NOT NULL,
	"show" boolean NOT NULL,
	"order" double precision NOT NULL,
	"width" integer NOT NULL,
	"summary" text
);
--> statement-breakpoint
CREATE TABLE "views" (
	"id" text PRIMARY KEY NOT NULL,
	"table_id" text NOT NULL,
	"title" text NOT NULL,
	"description" text,
	"kind" text NOT NULL,
	"is_default" boolean NOT NULL,
	"order" double precision NOT NULL,
	"lock" text NOT NULL,
	"meta" jsonb NOT NULL,
	"show_system_fields" boolean,
	"row_height" text NOT NULL,
	"frozen" integer NOT NULL,
	"filter" jsonb,
	"sorts" jsonb NOT NULL,
	"created_by" text,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "base_preferences" ADD CONSTRAINT "base_preferences_base_id_bases_id_fk" FOREIGN KEY ("base_id") REFERENCES "public"."bases"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fields" ADD CONSTRAINT "fields_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_base_id_bases_id_fk" FOREIGN KEY ("base_id") REFERENCES "public"."bases"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "view_fields" ADD CONSTRAINT "view_fields_view_id_views_id_fk" FOREIGN KEY ("view_id") REFERENCES "public"."views"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_tokens_hash" ON "api_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "api_tokens_user" ON "api_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "fields_table" ON "fields" USING btree ("table_id");--> statement-breakpoint
CREATE INDEX "jobs_base" ON "jobs" USING btree ("base_id");--> statement-breakpoint
CREATE INDEX "memberships_user" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "password_resets_user" ON "password_resets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sources_base" ON "sources" USING btree ("base_id");--> statement-breakpoint
CREATE INDEX "tables_base" ON "tables" USING btree ("base_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tables_name" ON "tables" USING btree ("source_id","table_name");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree ("email_key");--> statement-breakpoint
CREATE UNIQUE INDEX "users_founder" ON "users" USING btree ("founder");--> statement-breakpoint
CREATE UNIQUE INDEX "view_fields_field" ON "view_fields" USING btree ("view_id","field_id");--> statement-breakpoint
CREATE INDEX "views_table" ON "views" USING btree ("table_id");