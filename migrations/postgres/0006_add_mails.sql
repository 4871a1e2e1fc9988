CREATE TABLE "mails" (
	"id" text PRIMARY KEY NOT NULL,
	"topic" text NOT NULL,
	"event" text NOT NULL,
	"recipient" text NOT NULL,
	"content" text,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"due_at" bigint NOT NULL,
	"expires_at" bigint,
	"error" text,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("status","due_at");--> statement-breakpoint
CREATE INDEX "mails_topic" ON "mails" USING btree ("topic","created_at");