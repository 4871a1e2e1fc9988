CREATE TABLE "limit_counts" (
	"limit_name" text NOT NULL,
	"key" text NOT NULL,
	"at" bigint NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "limit_counts_limit_name_key_at_pk" PRIMARY KEY("limit_name","key","at")
);
--> statement-breakpoint
CREATE INDEX "limit_counts_at" ON "limit_counts" USING btree ("at");