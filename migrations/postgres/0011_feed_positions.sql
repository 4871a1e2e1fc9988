CREATE TABLE "feed_positions" (
	"consumer" text NOT NULL,
	"base_id" text NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "feed_positions_consumer_base_id_pk" PRIMARY KEY("consumer","base_id")
);
