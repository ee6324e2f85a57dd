# Read by the image of PostgreSQL at its first start: the two roles of docs/guides/operator.md, and the database.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=owner="$OWNER_PASSWORD" --set=service="$SERVICE_PASSWORD" \
  --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'END'
create role payments_owner login password :'owner';
create role payments login password :'service';
create database payments owner payments_owner;
END
