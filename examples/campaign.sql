-- The users, their phones and the contents of examples/campaign.yaml, for sqlite3 or any other program that speaks SQLite's language.
create table users (id integer primary key, campaign integer not null, name text not null, lang text not null);
create index users_by_campaign on users (campaign, id);
create table phones (user_id integer primary key, token text not null);
create table contents (campaign integer not null, lang text not null, title text not null, primary key (campaign, lang));

insert into contents values (42, 'ja', '飛脚が参ります'), (42, 'en', 'The courier is coming'), (42, 'fr', 'Le courrier arrive');

with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)
insert into users select i, 42, 'user ' || i, case i % 3 when 0 then 'ja' when 1 then 'en' else 'fr' end from n;
insert into phones select id, 'token-' || id from users;
