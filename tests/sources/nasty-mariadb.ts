/** One database with what others really hold: every type, odd names, keys of every kind. */
export const NASTY_MARIADB = [
  `create table \`Order\` (
    \`ID\` int auto_increment primary key,
    \`select\` varchar(20) not null default 'new',
    \`First Name\` varchar(45),
    \`back\`\`tick\` text,
    \`Ünïcode\` text
  ) character set utf8mb4`,
  `create table every_type (
    id bigint unsigned auto_increment primary key,
    yes tinyint(1) default 1, tiny tinyint, small smallint, medium mediumint, whole int unsigned,
    big bigint, huge bigint unsigned,
    exact decimal(10,2), long_exact decimal(38,10), round_number decimal(9,0),
    single float, double_number double,
    fixed char(3), short varchar(5), body text, long_body longtext,
    \`key\` uuid default uuid(),
    feeling enum('sad','it''s ok','happy, very') default 'sad', colours set('red','green','blue'),
    day date, at datetime, at_milli datetime(3), stamp timestamp default current_timestamp, hour time, year_made year,
    doc json, raw blob, fixed_raw binary(4), bits bit(4), place point,
    doubled int as (whole * 2) stored, shout varchar(10) as (upper(short)) virtual
  ) character set utf8mb4`,
  'create table no_key (a int, b text)',
  `create table pairs (region varchar(10) not null, number int not null, note text, primary key (region, number))`,
  `create table pair_child (id int primary key, region varchar(10), number int,
    foreign key (region, number) references pairs (region, number))`,
  `create table author (id int auto_increment primary key, name varchar(80) not null comment 'As on the cover',
    email varchar(100) unique) comment 'Who writes'`,
  `create table book (
    id int auto_increment primary key, title varchar(200) not null, author_id int not null, editor_id int,
    foreign key (author_id) references author (id), foreign key (editor_id) references author (id))`,
  `create table profile (author_id int primary key, bio text, foreign key (author_id) references author (id))`,
  'create table tag (id int auto_increment primary key, label varchar(40) not null)',
  `create table book_tag (book_id int not null, tag_id int not null, primary key (book_id, tag_id),
    foreign key (book_id) references book (id), foreign key (tag_id) references tag (id))`,
  `create table employee (id int auto_increment primary key, name varchar(40), boss_id int,
    foreign key (boss_id) references employee (id))`,
  'create view book_list as select b.id, b.title, a.name as author from book b join author a on a.id = b.author_id',
]
