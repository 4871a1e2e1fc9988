ALTER TABLE "audits" ALTER COLUMN "base_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "audits" ADD COLUMN "user_id" text;--> statement-breakpoint
ALTER TABLE "audits" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "audits" ADD COLUMN "user_agent" text;--> statement-breakpoint
CREATE INDEX "audits_at" ON "audits" USING btree ("at");