CREATE TABLE "attachment_files" (
	"path" text PRIMARY KEY NOT NULL,
	"user_id" text,
	"title" text NOT NULL,
	"mimetype" text NOT NULL,
	"size" bigint NOT NULL,
	"width" integer,
	"height" integer,
	"is_used" boolean NOT NULL,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attachment_uses" (
	"path" text NOT NULL,
	"base_id" text NOT NULL,
	CONSTRAINT "attachment_uses_path_base_id_pk" PRIMARY KEY("path","base_id")
);
--> statement-breakpoint
CREATE INDEX "attachment_files_unused" ON "attachment_files" USING btree ("is_used","created_at");