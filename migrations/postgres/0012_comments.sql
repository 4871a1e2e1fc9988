CREATE TABLE "comment_reactions" (
	"comment_id" text NOT NULL,
	"user_id" text NOT NULL,
	"emoji" text NOT NULL,
	"created_at" text NOT NULL,
	CONSTRAINT "comment_reactions_comment_id_user_id_emoji_pk" PRIMARY KEY("comment_id","user_id","emoji")
);
--> statement-breakpoint
CREATE TABLE "comments" (
	"id" text PRIMARY KEY NOT NULL,
	"base_id" text NOT NULL,
	"table_id" text NOT NULL,
	"record_id" text NOT NULL,
	"field_id" text,
	"parent_id" text,
	"text" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" text NOT NULL,
	"updated_at" text,
	"resolved_by" text,
	"resolved_at" text
);
--> statement-breakpoint
CREATE INDEX "comments_record" ON "comments" USING btree ("table_id","record_id");--> statement-breakpoint
CREATE INDEX "comments_base" ON "comments" USING btree ("base_id","created_at");