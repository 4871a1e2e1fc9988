ALTER TABLE "bases" ADD COLUMN "history_days" integer;--> statement-breakpoint
ALTER TABLE "bases" ADD COLUMN "history_since" text;