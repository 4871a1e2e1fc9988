CREATE TABLE "detached_files" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "detached_files_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"base_id" text NOT NULL,
	"table_id" text NOT NULL,
	"field_id" text NOT NULL,
	"record_id" text NOT NULL,
	"path" text NOT NULL,
	"item" jsonb NOT NULL,
	"detached_at" text NOT NULL,
	"detached_by" text
);
--> statement-breakpoint
ALTER TABLE "bases" ADD COLUMN "deleted_by" text;--> statement-breakpoint
ALTER TABLE "bases" ADD COLUMN "trash_days" integer;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "deleted_by" text;--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "deleted_by" text;--> statement-breakpoint
CREATE UNIQUE INDEX "detached_files_cell" ON "detached_files" USING btree ("table_id","record_id","field_id","path");--> statement-breakpoint
CREATE INDEX "detached_files_base" ON "detached_files" USING btree ("base_id","detached_at","id");--> statement-breakpoint
-- Existing bases keep deleted items as long as before: with their change log.
UPDATE "bases" SET "trash_days" = 0;
