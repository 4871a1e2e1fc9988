CREATE TABLE "base_import_objects" (
	"import_id" text NOT NULL,
	"scope" text NOT NULL,
	"source_id" text NOT NULL,
	"target_id" text NOT NULL,
	"digest" text,
	"pending" text,
	"run" integer NOT NULL,
	CONSTRAINT "base_import_objects_import_id_scope_source_id_pk" PRIMARY KEY("import_id","scope","source_id")
);
--> statement-breakpoint
CREATE TABLE "base_import_problems" (
	"import_id" text NOT NULL,
	"id" text NOT NULL,
	"run" integer NOT NULL,
	"table_title" text,
	"field_title" text,
	"view_title" text,
	"record_id" text,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"value" text,
	CONSTRAINT "base_import_problems_import_id_id_pk" PRIMARY KEY("import_id","id")
);
--> statement-breakpoint
CREATE TABLE "base_imports" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"base_id" text,
	"creates_base" boolean NOT NULL,
	"source" text NOT NULL,
	"source_base_id" text NOT NULL,
	"title" text NOT NULL,
	"choices" jsonb NOT NULL,
	"actor" jsonb NOT NULL,
	"credentials" text,
	"keeps_credentials" boolean NOT NULL,
	"status" text NOT NULL,
	"error" text,
	"job_id" text,
	"run" integer NOT NULL,
	"state" jsonb NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "base_imports_user" ON "base_imports" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "base_imports_base" ON "base_imports" USING btree ("base_id");