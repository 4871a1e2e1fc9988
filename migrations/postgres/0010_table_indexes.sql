CREATE TABLE "table_indexes" (
	"id" text PRIMARY KEY NOT NULL,
	"base_id" text NOT NULL,
	"table_id" text NOT NULL,
	"terms" jsonb NOT NULL,
	"columns" jsonb NOT NULL,
	"is_automatic" boolean NOT NULL,
	"state" text NOT NULL,
	"error" text,
	"created_at" text NOT NULL,
	"used_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "table_reads" (
	"table_id" text NOT NULL,
	"key" text NOT NULL,
	"base_id" text NOT NULL,
	"slow_reads" integer NOT NULL,
	"slow_ms" double precision NOT NULL,
	"last_at" text NOT NULL,
	CONSTRAINT "table_reads_table_id_key_pk" PRIMARY KEY("table_id","key")
);
--> statement-breakpoint
CREATE INDEX "table_indexes_table" ON "table_indexes" USING btree ("table_id");