CREATE TABLE "audits" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audits_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"key" text NOT NULL,
	"at" text NOT NULL,
	"base_id" text NOT NULL,
	"kind" text NOT NULL,
	"actor_id" text,
	"detail" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audits_base" ON "audits" USING btree ("base_id","id");