-- The users of examples/push.yaml, their phones, and what each of them is to be told, for sqlite3 or any other program that speaks SQLite's language.
create table users (
  id integer primary key, name text not null,
  platform text not null, token text not null, registered_at integer not null -- of the token, in Unix seconds
);
create table picks (pick text primary key, title text not null, text text not null) without rowid; -- by news and user: '42/17'

with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)
insert into users
select i, 'user ' || i, case i % 3 when 0 then 'android' else 'ios' end,
       case i % 3 when 0 then printf('android-%08d:registration-token-of-a-phone', i) else printf('%064x', i) end, 1700000000 + i
from n;

insert into picks
select '42/' || id,
       case id % 4 when 0 then '飛脚が参ります' when 1 then 'The courier is coming' when 2 then 'Le courrier arrive' else 'Der Bote kommt' end,
       name || ', this was picked for you'
from users;
