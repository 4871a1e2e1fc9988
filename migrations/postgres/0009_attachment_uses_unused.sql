ALTER TABLE "attachment_uses" ADD COLUMN "unused_since" text;--> statement-breakpoint
CREATE INDEX "attachment_uses_base" ON "attachment_uses" USING btree ("base_id");