CREATE TABLE `feed_positions` (
	`consumer` text NOT NULL,
	`base_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`consumer`, `base_id`)
);
